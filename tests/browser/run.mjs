// Run one piece of Python after another in Pyodide, and report what comes of each.

export async function run(pyodide, address, options = {}, prepare = () => {}) {
  const report = (result) =>
    fetch(new URL("result", address), { method: "POST", body: JSON.stringify(result) });
  let python;
  try {
    const { loadPyodide } = await import(pyodide);
    const own = await fetch(new URL("pyodide/pyodide-lock.json", address));
    python = await loadPyodide({
      ...options,
      lockFileContents: await own.json(),
      packageBaseUrl: new URL("pyodide/", address).href,
    });
    await python.loadPackage("micropip");
    prepare(python);
  } catch (error) {
    await report({ error: String(error) });
    return;
  }
  for (;;) {
    const { code, values } = await (await fetch(new URL("job", address))).json();
    const globals = python.toPy({ __name__: "__main__", ...values });
    try {
      const value = await python.runPythonAsync(code, { globals });
      await report({ value: value?.toJs?.({ dict_converter: Object.fromEntries }) ?? value });
    } catch (error) {
      await report({ error: String(error.message).slice(-4000) });
    }
  }
}
