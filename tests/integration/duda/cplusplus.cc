// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "webservice.h"

#include "packages/json/json.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

DUDA_REGISTER("tests", "C++17");

namespace
{

std::mutex lock;
std::map<std::string, std::vector<int>> numbers;

void add(duda_request_t *dr)
{
    const char *name = param->get(dr, "name");
    long n = 0;

    if (form->get_number(dr, "n", &n) < 0) {
        response->problem(dr, 400, "n is no number", nullptr);
        return;
    }
    std::lock_guard guard{lock};
    auto &list = numbers[name];
    list.push_back(static_cast<int>(n));
    std::sort(std::begin(list), std::end(list));
    response->header(dr, "X-Count", std::to_string(list.size()).c_str());
    response->send(dr, 201, "text/plain", "%d", list.back());
}

void drop(duda_request_t *dr)
{
    std::lock_guard guard{lock};

    response->http_status(dr, numbers.erase(param->get(dr, "name")) > 0 ? 204 : 404);
    response->end(dr, nullptr); // does not return here
    numbers["dropped"].push_back(1);
}

void count(duda_request_t *dr)
{
    std::lock_guard guard{lock};
    json_t *tree = json->create_object();

    for (const auto &[name, list] : numbers)
        json->add_to_object(tree, name.c_str(), json->create_number(double(list.size())));
    char *text = json->print_unformatted_gc(dr, tree);
    json->del(tree);
    response->send(dr, 200, "application/json", "%s", text);
}

// a lambda without captures is a function
void routes()
{
    router->before([](duda_request_t *dr) { response->header(dr, "X-Language", "C++"); });
    router->post("/:name<word>", add);
    router->del("/:name<word>", drop);
    router->get("", count);
}

} // namespace

extern "C" MK_EXPORT void duda_exit()
{
    numbers.clear();
}

int duda_main()
{
    duda_load_package(json, "json");
    router->group("/numbers", routes);
    return 0;
}
