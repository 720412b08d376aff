/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * A small game with forms, whose players have sessions.
 *
 *     cc quiz.c $(pkg-config --cflags --libs monkey-web) -o quiz && ./quiz 127.0.0.1:8080
 */

enum { CHOICES = 3, PAGE = 2048 };

static const struct {
    const char *text, *choices[CHOICES];
    unsigned right;
} questions[] = {
    {"Which status means that nothing was found?", {"200", "404", "500"}, 1},
    {"Which method has no body in its answer?", {"GET", "HEAD", "POST"}, 1},
    {"Which field names the host of a request?", {"Host", "Accept", "Server"}, 0},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

struct player {
    unsigned question, points;
};

/* ---- sessions ---- */

/* @return 0: the request has no session */
static int find_player(struct mk_request *r, void *sessions, struct player *p)
{
    const char *text = mk_session_get(r, sessions, "player");
    char *rest;

    if (!text)
        return 0;
    p->question = (unsigned)strtoul(text, &rest, 10);
    p->points = (unsigned)strtoul(rest, NULL, 10);
    return 1;
}

static int keep_player(struct mk_request *r, void *sessions, const struct player *p)
{
    const char *text = mk_request_printf(r, "%u %u", p->question, p->points);

    return text ? mk_session_set(r, sessions, "player", text) : MK_E_NOMEM;
}

/* ---- the page ---- */

static char *question(struct mk_request *r, const struct player *p)
{
    char choices[PAGE];
    size_t len = 0;

    if (p->question == QUESTIONS)
        return mk_request_printf(r, "<p>The end. <a href=\"/new\">Again</a></p>");
    for (unsigned i = 0; i < CHOICES; i++)
        len += (size_t)snprintf(
            choices + len, sizeof(choices) - len,
            "<label><input type=\"radio\" name=\"answer\" value=\"%u\">%s</label> ", i,
            questions[p->question].choices[i]);
    return mk_request_printf(
        r,
        "<form method=\"post\" action=\"/\"><p>%s</p><input type=\"hidden\" name=\"question\" "
        "value=\"%u\">%s<button>Answer</button></form>",
        questions[p->question].text, p->question, choices);
}

static enum mk_verdict show(struct mk_request *r, const struct player *p, const char *word)
{
    char *form = question(r, p), *page;

    page = form ? mk_request_printf(
                      r,
                      "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Quiz</title>"
                      "<h1>Quiz</h1><p>%s</p><p>Points: %u</p>%s",
                      word, p->points, form)
                : NULL;
    if (!page)
        return mk_reply_error(r, 503, NULL);
    return mk_reply_bytes(r, 200, "text/html; charset=utf-8", mk_str_from(page));
}

static enum mk_verdict welcome(struct mk_request *r, void *sessions)
{
    const struct player new = {0, 0};
    const int err = keep_player(r, sessions, &new);

    return err < 0 ? mk_reply_failure(r, err) : show(r, &new, "Welcome.");
}

static enum mk_verdict look(struct mk_request *r, void *sessions)
{
    struct player p;

    return find_player(r, sessions, &p) ? show(r, &p, "Welcome back.") : welcome(r, sessions);
}

/* ---- answers ---- */

/* @return the only digit of a text; -1: it is none */
static int digit(struct mk_str text)
{
    return text.len == 1 && text.p[0] >= '0' && text.p[0] <= '9' ? text.p[0] - '0' : -1;
}

/* An answer to another question than the session's was sent twice. */
static const char *judge(struct player *p, int question, int answer)
{
    if (question < 0 || answer < 0)
        return "Choose an answer.";
    if ((unsigned)question != p->question || p->question == QUESTIONS)
        return "That question was answered.";
    if ((unsigned)answer != questions[p->question++].right)
        return "Wrong.";
    p->points++;
    return "Right!";
}

static enum mk_verdict answer(struct mk_request *r, void *sessions)
{
    const struct mk_form_limits limits = {.size = sizeof(limits), .fields = 10, .memory = 4096};
    struct player p;
    struct mk_form *form;
    const char *word;
    int err = mk_form_read(r, &limits, &form);

    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    if (!find_player(r, sessions, &p))
        return welcome(r, sessions);
    word = judge(&p, digit(mk_form_value(form, MK_STR("question"))),
                 digit(mk_form_value(form, MK_STR("answer"))));
    err = keep_player(r, sessions, &p);
    return err < 0 ? mk_reply_failure(r, err) : show(r, &p, word);
}

int main(int argc, char **argv)
{
    const struct mk_sessions_options options = {
        .size = sizeof(options), .name = "quiz", .same_site = MK_SAME_SITE_STRICT};
    struct mk_sessions *sessions;
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_sessions_new(&sessions, &options) != 0 ||
        mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "quiz") != 0 ||
        mk_config_handle(config, "GET", "/", look, sessions) != 0 ||
        mk_config_handle(config, "POST", "/", answer, sessions) != 0 ||
        mk_config_handle(config, "GET", "/new", welcome, sessions) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    mk_sessions_free(sessions);
    return 0;
}
