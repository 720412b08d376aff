#include "webservice.h"
#include "packages/json/json.h"

/* Log-in with a session: POST /@NAME@/login and /@NAME@/logout, GET /@NAME@/me */

DUDA_REGISTER("@NAME@", "log-in");

/* A sample: look accounts up where yours are, and keep hashes of passwords, never the passwords. */
static int is_account(const char *name, const char *password)
{
    return strcmp(name, "ann") == 0 && strcmp(password, "banana") == 0;
}

static void answer(duda_request_t *dr, int status)
{
    response->http_status(dr, status);
    response->end(dr, NULL);
}

static const char *text_of(json_t *body, const char *key)
{
    json_t *item = body ? json->get_object_item(body, key) : NULL;

    return item && item->type == cJSON_String ? item->valuestring : "";
}

/* Other sites cannot send the cookie with a POST: it is SameSite=Lax. */
static void login(duda_request_t *dr)
{
    json_t *body = json->parse_data(dr);
    const char *name = text_of(body, "name");
    int is_in = is_account(name, text_of(body, "password")) &&
                session->create(dr, "user", (char *)name, (int)xtime->next_hours(8)) == 0;

    json->delete (body);
    answer(dr, is_in ? 204 : 403);
}

static void logout(duda_request_t *dr)
{
    if (!request->is_post(dr)) {
        answer(dr, 405);
        return;
    }
    session->destroy(dr, "user");
    answer(dr, 204);
}

static void me(duda_request_t *dr)
{
    char *user = session->get(dr, "user");

    gc->add(dr, user);
    if (!user) {
        answer(dr, 401);
        return;
    }
    response->http_header(dr, "Content-Type: text/plain; charset=utf-8");
    response->http_header(dr, "Cache-Control: no-store");
    response->print(dr, user, (int)strlen(user));
    answer(dr, 200);
}

int duda_main()
{
    duda_load_package(json, "json");
    if (session->init("@NAME@") < 0)
        return -1;
    router->map("/login", login);
    router->map("/logout", logout);
    router->map("/me", me);
    return 0;
}
