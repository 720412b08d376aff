/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_SCRIPTS_H
#define MK_DUDA_OBJECTS_SESSION_SCRIPTS_H

/*
 * What Redis does with the hash of a session at once, as scripts in Lua. KEYS[1] is its key; fields are written as in
 * objects/session/session_value.h. A hash never lives without a time; another request may have replaced the session
 * meanwhile, or ended it.
 */

/*
 * Fields of the server's own, whose values are identities: which one has the place of one that was replaced, which one it
 * had itself, and those that were begun in place of the same one by requests side by side.
 */
#define MK_DUDA_SESSION_HEIR "_heir"
#define MK_DUDA_SESSION_BEFORE "_before"
#define MK_DUDA_SESSION_KIN "_kin:" /* and the identity */

/**
 * Write values, and set a time that may be a shorter one: the time of the clock, "1" if the session is to be there already, and
 * for each value "1" if that is, its name and its field.
 */
extern const char mk_duda_session_script_store[];
/** Set the time to live: seconds. */
extern const char mk_duda_session_script_keep[];
/**
 * Give the place of a session that has not ended to another one, once: the field of its heir, seconds to live, the name of the
 * field of kin, and how many fields there may be. It says what the session has until now.
 */
extern const char mk_duda_session_script_replace[];
/** Add kin: name, field, and how many fields there may be. */
extern const char mk_duda_session_script_kin[];
/** Change a value in the heir: name, field, and the field that it must have. */
extern const char mk_duda_session_script_heir[];
/**
 * Remove the value of a name. A session without values ends, unless another one has its place. It says which identities may
 * have the value, too, as fields.
 */
extern const char mk_duda_session_script_remove[];

#endif
