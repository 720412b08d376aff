/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/*
 * A small game with forms. A cookie names the player's session; there is one worker, so sessions need no lock.
 *
 *     cc quiz.c $(pkg-config --cflags --libs monkey-web) -o quiz && ./quiz 127.0.0.1:8080
 */

enum { SESSIONS = 100, ID = 32, CHOICES = 3, PAGE = 2048 };

static const struct {
    const char *text, *choices[CHOICES];
    unsigned right;
} questions[] = {
    {"Which status means that nothing was found?", {"200", "404", "500"}, 1},
    {"Which method has no body in its answer?", {"GET", "HEAD", "POST"}, 1},
    {"Which field names the host of a request?", {"Host", "Accept", "Server"}, 0},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

struct session {
    char id[ID + 1]; /* "": free */
    unsigned question, points;
};

struct quiz {
    struct session sessions[SESSIONS];
    unsigned newest;
};

/* ---- sessions ---- */

static struct session *find_session(struct quiz *quiz, const struct mk_request *r)
{
    struct mk_str id = mk_cookie_value(r, MK_STR("quiz"));

    for (unsigned i = 0; id.len == ID && i < SESSIONS; i++) {
        if (memcmp(quiz->sessions[i].id, id.p, ID) == 0)
            return &quiz->sessions[i];
    }
    return NULL;
}

/* The oldest session makes room. @return NULL: no randomness */
static struct session *new_session(struct quiz *quiz)
{
    struct session *s = &quiz->sessions[quiz->newest++ % SESSIONS];
    unsigned char random[ID / 2];

    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return NULL;
    memset(s, 0, sizeof(*s));
    for (unsigned i = 0; i < ID / 2; i++)
        (void)snprintf(s->id + 2 * i, 3, "%02x", random[i]);
    return s;
}

/* ---- the page ---- */

static char *question(struct mk_request *r, const struct session *s)
{
    char choices[PAGE];
    size_t len = 0;

    if (s->question == QUESTIONS)
        return mk_request_printf(r, "<p>The end. <a href=\"/new\">Again</a></p>");
    for (unsigned i = 0; i < CHOICES; i++)
        len += (size_t)snprintf(
            choices + len, sizeof(choices) - len,
            "<label><input type=\"radio\" name=\"answer\" value=\"%u\">%s</label> ", i,
            questions[s->question].choices[i]);
    return mk_request_printf(
        r,
        "<form method=\"post\" action=\"/\"><p>%s</p><input type=\"hidden\" name=\"question\" "
        "value=\"%u\">%s<button>Answer</button></form>",
        questions[s->question].text, s->question, choices);
}

static enum mk_verdict show(struct mk_request *r, const struct session *s, const char *word)
{
    struct mk_cookie cookie = {.size = sizeof(cookie),
                               .name = MK_STR("quiz"),
                               .value = mk_str_from(s->id),
                               .path = MK_STR("/"),
                               .same_site = MK_SAME_SITE_STRICT,
                               .http_only = true};
    char *form = question(r, s), *page;
    struct mk_reply p;

    page = form ? mk_request_printf(
                      r,
                      "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Quiz</title>"
                      "<h1>Quiz</h1><p>%s</p><p>Points: %u</p>%s",
                      word, s->points, form)
                : NULL;
    if (!page)
        return mk_reply_error(r, 503, NULL);
    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/html; charset=utf-8"));
    mk_reply_cookie(&p, &cookie);
    if (mk_reply_end(&p, (int64_t)strlen(page)) == 0)
        (void)!mk_reply_memory(r, mk_str_from(page));
    return MK_VERDICT_DONE;
}

static enum mk_verdict welcome(struct mk_request *r, void *arg)
{
    const struct session *s = new_session(arg);

    return s ? show(r, s, "Welcome.") : mk_reply_error(r, 503, NULL);
}

static enum mk_verdict look(struct mk_request *r, void *arg)
{
    const struct session *s = find_session(arg, r);

    return s ? show(r, s, "Welcome back.") : welcome(r, arg);
}

/* ---- answers ---- */

/* @return the only digit of a text; -1: it is none */
static int digit(struct mk_str text)
{
    return text.len == 1 && text.p[0] >= '0' && text.p[0] <= '9' ? text.p[0] - '0' : -1;
}

/* An answer to another question than the session's was sent twice. */
static const char *judge(struct session *s, int question, int answer)
{
    if (question < 0 || answer < 0)
        return "Choose an answer.";
    if ((unsigned)question != s->question || s->question == QUESTIONS)
        return "That question was answered.";
    if ((unsigned)answer != questions[s->question++].right)
        return "Wrong.";
    s->points++;
    return "Right!";
}

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    const struct mk_form_limits limits = {.size = sizeof(limits), .fields = 10, .memory = 4096};
    struct session *s = find_session(arg, r);
    struct mk_form *form;
    int err = mk_form_read(r, &limits, &form);

    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    if (!s)
        return welcome(r, arg);
    return show(r, s,
                judge(s, digit(mk_form_value(form, MK_STR("question"))),
                      digit(mk_form_value(form, MK_STR("answer")))));
}

int main(int argc, char **argv)
{
    static struct quiz quiz;
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 2 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "quiz") != 0 ||
        mk_config_set(config, "SERVER", "Workers", "1", "quiz") != 0 ||
        mk_config_handle(config, "GET", "/", look, &quiz) != 0 ||
        mk_config_handle(config, "POST", "/", answer, &quiz) != 0 ||
        mk_config_handle(config, "GET", "/new", welcome, &quiz) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    return 0;
}
