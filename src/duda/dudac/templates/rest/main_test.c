#include "duda_test.h"

TEST(is_empty_at_first)
{
    EXPECT_TEXT(GET("/@NAME@/items")->body, "[]");
}

TEST(adds_and_deletes)
{
    EXPECT(POST("/@NAME@/items", "{\"text\": \"cook\"}")->status == 201);
    EXPECT(strstr(GET("/@NAME@/items")->body, "cook"));
    EXPECT(DELETE("/@NAME@/items/1")->status == 204);
    EXPECT_TEXT(GET("/@NAME@/items")->body, "[]");
}

TEST(refuses_items_without_text)
{
    EXPECT(POST("/@NAME@/items", "{}")->status == 400);
}
