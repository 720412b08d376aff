#include "duda_test.h"

#include <stdio.h>

static const char json_type[] = "Content-Type: application/json\r\n";
static const char account[] = "{\"name\": \"ann\", \"password\": \"banana\"}";

TEST(needs_the_password)
{
    EXPECT(ASK("POST", "/@NAME@/login", json_type, "{\"name\": \"ann\", \"password\": \"apple\"}")
               ->status == 403);
    EXPECT(GET("/@NAME@/me")->status == 401);
}

TEST(knows_who_has_logged_in)
{
    const char *set =
        duda_test_field(ASK("POST", "/@NAME@/login", json_type, account), "Set-Cookie");
    char cookie[300];

    EXPECT(set != NULL);
    (void)snprintf(cookie, sizeof(cookie), "Cookie: %.*s\r\n", (int)strcspn(set, ";"), set);
    EXPECT_TEXT(ASK("GET", "/@NAME@/me", cookie, NULL)->body, "ann");
}
