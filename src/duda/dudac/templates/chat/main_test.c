#include "duda_test.h"

TEST(has_a_page)
{
    EXPECT(strstr(GET("/@NAME@/")->body, "WebSocket"));
}

TEST(is_for_websockets_alone)
{
    EXPECT(GET("/@NAME@/chat")->status == 426);
    EXPECT(POST("/@NAME@/chat", "hello")->status == 405);
}
