#include "duda_test.h"

static const char json_type[] = "Content-Type: application/json\r\n";

#define ADD(text) ASK("POST", "/@NAME@/items", json_type, text)

TEST(is_empty_at_first)
{
    EXPECT_TEXT(GET("/@NAME@/items")->body, "[]");
}

TEST(adds_and_deletes)
{
    EXPECT(ADD("{\"text\": \"cook\"}")->status == 201);
    EXPECT_TEXT(GET("/@NAME@/items")->body, "[{\"id\":1,\"text\":\"cook\"}]");
    EXPECT(DELETE("/@NAME@/items/1")->status == 204);
    EXPECT_TEXT(GET("/@NAME@/items")->body, "[]");
}

TEST(says_which_input_is_wrong)
{
    EXPECT(strstr(ADD("{}")->body, "\"name\":\"text\",\"detail\":\"is missing\""));
    EXPECT(DELETE("/@NAME@/items/0")->status == 400);
}

TEST(describes_itself)
{
    EXPECT(strstr(GET("/@NAME@/openapi.json")->body, "\"/items/{id}\""));
}
