<?php // SPDX-License-Identifier: Apache-2.0
session_start();
$_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
?>
<!DOCTYPE html>
<title>PHP behind Monkey</title>
<p>PHP <?= PHP_VERSION ?> greets you for time <?= $_SESSION['visits'] ?>.
<form method="post" enctype="multipart/form-data">
  <input type="file" name="file"> <button>Send</button>
</form>
<?php if (isset($_FILES['file'])): ?>
<p>Received <?= htmlspecialchars($_FILES['file']['name']) ?>, <?= $_FILES['file']['size'] ?> bytes.
<?php endif ?>
