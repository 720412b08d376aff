#include "duda_test.h"

#include <stdio.h>

TEST(adds_and_deletes)
{
    const struct duda_answer *added = POST("/@NAME@/items", "{\"text\": \"cook <b>\"}");
    char target[64];
    long id = 0;

    EXPECT(added->status == 201 && sscanf(added->body, "{\"id\":%ld}", &id) == 1);
    EXPECT(strstr(GET("/@NAME@/items")->body, "cook <b>"));
    snprintf(target, sizeof(target), "/@NAME@/items/%ld", id);
    EXPECT(DELETE(target)->status == 204);
    EXPECT(DELETE(target)->status == 404);
    EXPECT(!strstr(GET("/@NAME@/items")->body, "cook <b>"));
}

TEST(refuses_items_without_text)
{
    EXPECT(POST("/@NAME@/items", "{}")->status == 400);
    EXPECT(POST("/@NAME@/items", "cook")->status == 400);
}
