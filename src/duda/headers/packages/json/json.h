/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_JSON_H
#define DUDA_PACKAGE_JSON_H
#include "duda_api.h"
#define cJSON_False 0
#define cJSON_True 1
#define cJSON_NULL 2
#define cJSON_Number 3
#define cJSON_String 4
#define cJSON_Array 5
#define cJSON_Object 6
#define cJSON_IsReference 256
typedef struct cJSON {
    struct cJSON *next, *prev; /* siblings in an array/object */
    struct cJSON *child;       /* first element */
    int type;
    char *valuestring;
    int valueint;
    double valuedouble;
    char *string; /* key, when member of an object */
} cJSON;
typedef cJSON json_t;
struct
    duda_api_json { /* real prototypes on purpose: the reference leaves () and int arguments break */
    json_t *(*create_null)(void);
    json_t *(*create_true)(void);
    json_t *(*create_false)(void);
    json_t *(*create_bool)(int b);
    json_t *(*create_number)(double num);
    json_t *(*create_string)(const char *str); /* copies */
    json_t *(*create_array)(void);
    json_t *(*create_object)(void);
    void (*add_to_array)(json_t *array, json_t *item); /* item now belongs to array */
    void (*add_to_object)(json_t *object, const char *key, json_t *item);
    json_t *(*parse)(const char *text); /* NULL on error; trailing text tolerated */
    char *(*print)(json_t *item);       /* indented with tabs; owned by caller */
    char *(*print_gc)(duda_request_t *dr, json_t *item); /* same, freed with the request */
    char *(*print_unformatted)(json_t *item);
    char *(*print_unformatted_gc)(duda_request_t *dr, json_t *item);
    void (*delete)(json_t *item);                                /* whole tree */
    int (*get_array_size)(json_t *array);                        /* also counts object members */
    json_t *(*get_array_item)(json_t *array, int idx);           /* NULL out of range */
    json_t *(*get_object_item)(json_t *object, const char *key); /* ignores case */
    const char *(*get_error)(void);                              /* where the last parse stopped */
    json_t *(*parse_data)(duda_request_t *dr);                   /* parse the POST/PUT body */
};
typedef struct duda_api_json json_object_t;
DUDA_OBJ json_object_t *json;
#endif
