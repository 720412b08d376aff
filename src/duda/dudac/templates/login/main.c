#include "webservice.h"

/*
 * Log-in with a session.
 *
 * POST /@NAME@/login     {"name": "ann", "password": "banana"}
 * POST /@NAME@/logout
 * GET  /@NAME@/me        who has logged in
 */

DUDA_REGISTER("@NAME@", "log-in");

struct account {
    const char *name, *password;
};

static const struct duda_input account_rows[] = {{.name = "name",
                                                  .in = DUDA_IN_BODY,
                                                  .type = DUDA_TEXT,
                                                  .to = offsetof(struct account, name),
                                                  .is_required = 1,
                                                  .max = 100},
                                                 {.name = "password",
                                                  .in = DUDA_IN_BODY,
                                                  .type = DUDA_TEXT,
                                                  .to = offsetof(struct account, password),
                                                  .is_required = 1,
                                                  .max = 100},
                                                 {0}};
static const struct duda_inputs account_inputs = {"Log in", sizeof(struct account), account_rows};

/* A sample: look accounts up where yours are, and keep hashes of passwords, never the passwords. */
static int is_account(const struct account *account)
{
    return strcmp(account->name, "ann") == 0 && strcmp(account->password, "banana") == 0;
}

/* The body is JSON, which a page of another site cannot send, and the session's cookie is SameSite=Lax. */
static void login(duda_request_t *dr)
{
    const struct account *account = input->values(dr);

    if (!is_account(account))
        response->problem(dr, 403, "Name or password is wrong", NULL);
    else if (session->create(dr, "user", (char *)account->name, (int)xtime->next_hours(8)) < 0)
        response->problem(dr, 503, "Try again later", NULL);
    else
        response->send(dr, 204, NULL, "%s", "");
}

/* ---- for those who have logged in */

static void logout(duda_request_t *dr)
{
    session->destroy(dr, "user");
    response->send(dr, 204, NULL, "%s", "");
}

static void me(duda_request_t *dr)
{
    char *user = session->get(dr, "user");

    gc->add(dr, user);
    response->header(dr, "Cache-Control", "no-store");
    response->send(dr, 200, "text/plain; charset=utf-8", "%s", user ? user : "");
}

/* Passwords cannot be tried for long: a client may do so 60 times, and once a second then. */
static void door(void)
{
    guard->rate(60, 60);
    router->describe("POST", "", login, &account_inputs);
}

int duda_main()
{
    if (session->init("@NAME@") < 0)
        return -1;
    router->group("/login", door);
    guard->login("user", NULL); /* the routes below answer others with 401 */
    router->post("/logout", logout);
    router->get("/me", me);
    return 0;
}
