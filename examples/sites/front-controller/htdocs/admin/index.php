<?php // SPDX-License-Identifier: Apache-2.0
echo "<!DOCTYPE html>\n<title>Administration</title>\n<p>A folder with a script of its own: ", $_SERVER['SCRIPT_NAME'], "\n";
