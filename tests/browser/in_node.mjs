// Pyodide in node: node in_node.mjs PYODIDE ADDRESS PROJECT CACHE

import { run } from "./run.mjs";

const [pyodide, address, project, packageCacheDir] = process.argv.slice(2);
await run(pyodide, address, { packageCacheDir }, (python) => {
  python.FS.mkdirTree("/project");
  python.FS.mount(python.FS.filesystems.NODEFS, { root: project }, "/project");
});
