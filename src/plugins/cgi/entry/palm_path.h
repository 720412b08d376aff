/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_PALM_PATH_H
#define CGI_PALM_PATH_H

enum { PALM_PATH_MAX = 4096 };

/**
 * Where monkey-palm is: beside this plugin; where it is built in, in the folder of plugins beside the program, or where plugins
 * are installed.
 * @return dst; NULL: nowhere.
 */
const char *cgi_palm_path(char dst[PALM_PATH_MAX]);

#endif
