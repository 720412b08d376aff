/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_scripts.h"

#include "kit/sessions/sessions.h"

#define UNLESS_REPLACED                                                                            \
    "if redis.call('HEXISTS',KEYS[1],'" MK_DUDA_SESSION_HEIR "')==1 then return 0 end "
/* Is the field at i one of the server's own? */
#define IS_LINK                                                                                    \
    "(all[i]=='" MK_DUDA_SESSION_HEIR "' or all[i]=='" MK_DUDA_SESSION_BEFORE                      \
    "' or string.sub(all[i],1,5)=='" MK_DUDA_SESSION_KIN "')"

const char mk_duda_session_script_store[] =
    "if ARGV[2]=='1' and redis.call('EXISTS',KEYS[1])==0 then return 0 end "
    "for i=3,#ARGV,3 do "
    "if ARGV[i]=='0' or redis.call('HEXISTS',KEYS[1],ARGV[i+1])==1 then "
    "redis.call('HSET',KEYS[1],ARGV[i+1],ARGV[i+2]) end end "
    "if redis.call('TTL',KEYS[1])==-1 then redis.call('EXPIRE',KEYS[1],30) end " UNLESS_REPLACED
    "local ttl,all=1,redis.call('HGETALL',KEYS[1]) "
    "for i=1,#all,2 do local at=tonumber(string.match(all[i+1],'^(%d+) ')) "
    "if at and not " IS_LINK " then "
    "ttl=math.max(ttl,at==0 and 86400 or at-tonumber(ARGV[1])) end end "
    "return redis.call('EXPIRE',KEYS[1],ttl)";
_Static_assert(SESSION_IDLE_S == 86400, "as the script has it");

const char mk_duda_session_script_keep[] =
    UNLESS_REPLACED "return redis.call('EXPIRE',KEYS[1],ARGV[1])";

const char mk_duda_session_script_replace[] =
    "local all=redis.call('HGETALL',KEYS[1]) "
    "if #all==0 then return all end "
    "if redis.call('HSETNX',KEYS[1],'" MK_DUDA_SESSION_HEIR "',ARGV[1])==1 then "
    "redis.call('EXPIRE',KEYS[1],ARGV[2]) "
    "elseif #all<2*tonumber(ARGV[4]) then "
    "redis.call('HSET',KEYS[1],ARGV[3],ARGV[1]) end "
    "return all";

const char mk_duda_session_script_kin[] = "local n=redis.call('HLEN',KEYS[1]) "
                                          "if n==0 or n>=tonumber(ARGV[3]) then return 0 end "
                                          "return redis.call('HSET',KEYS[1],ARGV[1],ARGV[2])";

const char mk_duda_session_script_heir[] =
    "if redis.call('HGET',KEYS[1],ARGV[1])~=ARGV[3] then return 0 end "
    "return redis.call('HSET',KEYS[1],ARGV[1],ARGV[2])";

const char mk_duda_session_script_remove[] =
    "local kin,left,all={},0,redis.call('HGETALL',KEYS[1]) "
    "redis.call('HDEL',KEYS[1],ARGV[1]) "
    "for i=1,#all,2 do "
    "if " IS_LINK " then kin[#kin+1]=all[i+1] "
    "elseif all[i]~=ARGV[1] then left=left+1 end end "
    "if left==0 and redis.call('HEXISTS',KEYS[1],'" MK_DUDA_SESSION_HEIR "')==0 then "
    "redis.call('DEL',KEYS[1]) end "
    "return kin";
