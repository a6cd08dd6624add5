#!/usr/bin/env node
// biome-ignore-all lint: old syntax on purpose, see below
// Old versions of Node.js must print one clear line instead of a syntax error, or start the Node.js that `npm ci`
// installs in a checkout. The program itself is src/cli in a checkout, and dist in the package.
var MIN_MAJOR = 24;

(parseInt(process.versions.node, 10) < MIN_MAJOR ? startOther() : start()).catch(function (error) {
  console.error('error IDKIT_BUG: ' + (error && error.stack ? error.stack : error));
  process.exit(70);
});

function start() {
  // An import would read every export of these modules, which loads code that is not used.
  var fs = process.getBuiltinModule('fs');
  var path = process.getBuiltinModule('path');
  openCompileCache(fs, path, process.getBuiltinModule('module'), process.getBuiltinModule('os'));
  var root = path.dirname(path.dirname(fs.realpathSync(process.argv[1])));
  var inCheckout = fs.existsSync(path.join(root, 'src', 'cli', 'main.ts'));
  return import(inCheckout ? '../src/cli/main.ts' : '../dist/main.js').then(function (program) {
    return program.main(process.argv.slice(2));
  });
}

// Compiled code is stored in the user's own cache. In a shared directory, other users could replace it.
function openCompileCache(fs, path, module, os) {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    var caches = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
    // Do not create a home directory that does not exist.
    if (fs.existsSync(path.dirname(caches))) module.enableCompileCache(path.join(caches, 'idkit'));
  } catch (error) {
    // Without a home directory the start is only a little slower.
  }
}

function startOther() {
  return Promise.all([import('fs'), import('path'), import('child_process')]).then(function (modules) {
    var fs = modules[0];
    var path = modules[1];
    var root = path.dirname(path.dirname(fs.realpathSync(process.argv[1])));
    var node = path.join(root, 'node_modules', 'node-linux-' + process.arch, 'bin', 'node');
    if (!fs.existsSync(node)) {
      console.error(
        'error IDKIT_VERSION: idkit needs Node.js ' +
          MIN_MAJOR +
          ' or newer, and this is ' +
          process.versions.node +
          '\nhint: install a current one from https://nodejs.org/en/download, first in the search path',
      );
      process.exit(14);
    }
    var child = modules[2].spawn(node, process.argv.slice(1), { stdio: 'inherit' });
    ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
      process.on(signal, function () {
        child.kill(signal);
      });
    });
    child.on('exit', function (code, signal) {
      if (signal === null) process.exit(code);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
