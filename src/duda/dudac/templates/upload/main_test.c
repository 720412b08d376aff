#include "duda_test.h"

#define TYPE "Content-Type: multipart/form-data; boundary=x\r\n"
#define FORM(name, text)                                                                           \
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\n\r\n" text     \
    "\r\n--x--\r\n"

/* The folder of data is a copy, for each test. */
TEST(keeps_a_file)
{
    EXPECT(ASK("POST", "/@NAME@/files", TYPE, FORM("a.txt", "text"))->status == 201);
    EXPECT_TEXT(GET("/@NAME@/files/a.txt")->body, "text");
}

TEST(has_no_file_at_first)
{
    EXPECT_TEXT(GET("/@NAME@/files")->body, "");
}

TEST(refuses_hidden_files)
{
    EXPECT(ASK("POST", "/@NAME@/files", TYPE, FORM(".hidden", "text"))->status == 400);
}
