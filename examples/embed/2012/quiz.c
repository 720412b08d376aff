/* SPDX-License-Identifier: Apache-2.0 */
#include <libmonkey.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * A small game with forms. A cookie names the player's session; there is one worker, so sessions need no lock.
 *
 *     cc quiz.c $(pkg-config --cflags --libs libmonkey) -o quiz
 *     ./quiz [ADDRESS]      until the end of its input
 */

enum { SESSIONS = 100, PAGE = 4096, HEADER = 256 };

static const struct {
    const char *text, *choices[3];
    int right;
} questions[] = {
    {"Which status means that nothing was found?", {"200", "404", "500"}, 1},
    {"Which method has no body in its answer?", {"GET", "HEAD", "POST"}, 1},
    {"Which field names the host of a request?", {"Host", "Accept", "Server"}, 0},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

struct session {
    unsigned long long id; /* 0: free */
    int question, points;
};

static struct session sessions[SESSIONS];
static int newest;
static char page[PAGE];

static struct session *find_session(const mklib_session *request)
{
    unsigned long long id = 0;
    char *cookies, *cookie;

    if (mklib_get_request_header(request, "Cookie", &cookies) < 0 || !cookies)
        return NULL;
    cookie = strstr(cookies, "quiz=");
    if (cookie)
        id = strtoull(cookie + 5, NULL, 16);
    free(cookies);
    for (int i = 0; id && i < SESSIONS; i++) {
        if (sessions[i].id == id)
            return &sessions[i];
    }
    return NULL;
}

/* The oldest session makes room. */
static struct session *new_session(char *header)
{
    struct session *s = &sessions[newest = (newest + 1) % SESSIONS];

    memset(s, 0, sizeof(*s));
    if (getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id) || !s->id)
        s->id = 1;
    snprintf(header, HEADER,
             "Content-Type: text/html; charset=utf-8\r\nSet-Cookie: quiz=%llx; HttpOnly; "
             "SameSite=Strict",
             s->id);
    return s;
}

/* The form is "question=N&answer=N". An answer to another question than the session's was sent twice. */
static const char *take_answer(struct session *s, const char *form)
{
    int question, answer;

    if (sscanf(form, "question=%d&answer=%d", &question, &answer) != 2)
        return "Choose an answer.";
    if (question != s->question || question >= QUESTIONS)
        return "That question was answered.";
    if (answer != questions[s->question++].right)
        return "Wrong.";
    s->points++;
    return "Right!";
}

static size_t write_page(const struct session *s, const char *word)
{
    int len =
        snprintf(page, PAGE,
                 "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Quiz</title>"
                 "<h1>Quiz</h1><p id=\"word\">%s</p><p id=\"points\">Points: %d</p>",
                 word, s->points);

    if (s->question == QUESTIONS)
        return (size_t)(len + snprintf(page + len, (size_t)(PAGE - len),
                                       "<p>The end. <a href=\"/new\">Again</a></p>"));
    len += snprintf(
        page + len, (size_t)(PAGE - len),
        "<form method=\"post\"><p>%s</p><input type=\"hidden\" name=\"question\" value=\"%d\">",
        questions[s->question].text, s->question);
    for (int i = 0; i < 3; i++)
        len += snprintf(page + len, (size_t)(PAGE - len),
                        "<label><input type=\"radio\" name=\"answer\" value=\"%d\">%s</label>", i,
                        questions[s->question].choices[i]);
    return (size_t)(len +
                    snprintf(page + len, (size_t)(PAGE - len), "<button>Answer</button></form>"));
}

static int quiz(const mklib_session *request, const char *vhost, const char *url, const char *get,
                unsigned long get_len, const char *post, unsigned long post_len,
                unsigned int *status, const char **content, unsigned long *len, char *header)
{
    struct session *s = find_session(request);
    const char *word = "Welcome.";

    (void)vhost, (void)get, (void)get_len, (void)post_len, (void)status;
    if (strcmp(url, "/") != 0 && strcmp(url, "/new") != 0)
        return MKLIB_FALSE;
    snprintf(header, HEADER, "Content-Type: text/html; charset=utf-8");
    if (!s || strcmp(url, "/new") == 0)
        s = new_session(header);
    else if (post)
        word = take_answer(s, post);
    *len = write_page(s, word);
    *content = page;
    return MKLIB_TRUE;
}

int main(int argc, char **argv)
{
    mklib_ctx ctx = mklib_init(argc > 1 ? argv[1] : NULL, 2001, 0, NULL);

    if (!ctx || !mklib_callback_set(ctx, MKCB_DATA, quiz) || !mklib_start(ctx))
        return 1;
    puts("running");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return mklib_stop(ctx) ? 0 : 1;
}
