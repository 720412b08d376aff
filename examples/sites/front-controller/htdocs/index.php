<?php // SPDX-License-Identifier: Apache-2.0
/* The address as it was asked for, without the query: what such an application goes by. */
$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
$pages = ['/' => 'Home', '/hello' => 'Hello', '/2026/a-post' => 'A post'];

if (!isset($pages[$path])) {
    http_response_code(404);
}
?>
<!DOCTYPE html>
<title><?= $pages[$path] ?? 'No such page' ?></title>
<link rel="stylesheet" href="/assets/style.css">
<h1><?= $pages[$path] ?? 'No such page' ?></h1>
<p>You asked for <?= htmlspecialchars($path) ?><?php if ($_GET): ?> with <?= htmlspecialchars(http_build_query($_GET)) ?><?php endif ?>.
