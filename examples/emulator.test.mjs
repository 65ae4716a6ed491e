// Tests of a program in JavaScript that reads statistics, with the emulator as its service.
//
// They need Node.js 20 or later, and the command sitestats on the PATH:
//
//     node --test examples/emulator.test.mjs

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";

// --- the code under test ---------------------------------------------------------------

// The page with the most page views of the last seven days, or undefined without any.
async function topPage(service, hostname) {
  const query = new URLSearchParams({
    version: "6",
    fields: "pages",
    start: "today-6d",
    end: "today",
    limit: "1",
    info: "false",
  });
  const headers = { "Api-Key": service.api_key };
  const response = await fetch(`${service.base_url}/${hostname}.json?${query}`, { headers });
  if (!response.ok) {
    throw new Error(`the service responded with status ${response.status}`);
  }
  const { pages } = await response.json();
  return pages[0]?.value;
}

// --- one emulator for the suite, which starts another one for each test ----------------

let child;
let address;

before(async () => {
  child = spawn("sitestats", ["emulator", "--empty", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("export SITESTATS_BASE_URL=")) {
      address = line.split("=")[1];
      return;
    }
  }
  throw new Error("the emulator did not start");
});

after(async () => {
  child.kill("SIGINT");
  await once(child, "exit");
});

// Call the emulator at an address; an argument that is wrong fails the test.
async function control(base_url, name, body = {}) {
  const response = await fetch(`${base_url}/-/${name}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const data = await response.json();
  assert.equal(response.status, 200, data.error);
  return data;
}

async function startEmulator(test, settings = {}) {
  const emulator = await control(address, "emulators", settings);
  test.after(() => control(address, "stop", { base_url: emulator.base_url }));
  return emulator;
}

// --- the tests, all at the same time ---------------------------------------------------

describe("topPage", { concurrency: true }, () => {
  it("is the page with the most page views", async (test) => {
    const emulator = await startEmulator(test);
    await control(emulator.base_url, "load", {
      hostname: "example.com",
      rows: [{ path: "/" }, { path: "/blog" }, { path: "/blog" }],
    });
    assert.equal(await topPage(emulator, "example.com"), "/blog");
  });

  it("forgets what is older than a week", async (test) => {
    const emulator = await startEmulator(test, { now: "2026-03-15T12:00:00Z" });
    await control(emulator.base_url, "load", {
      hostname: "example.com",
      rows: [{ path: "/old", added_iso: "2026-03-08T23:59:59Z" }],
    });
    assert.equal(await topPage(emulator, "example.com"), undefined);
    await control(emulator.base_url, "clock", { now: "2026-03-14T12:00:00Z" });
    assert.equal(await topPage(emulator, "example.com"), "/old");
  });

  it("requests one page with the key", async (test) => {
    const emulator = await startEmulator(test);
    await control(emulator.base_url, "websites", { hostname: "example.com" });
    await topPage(emulator, "example.com");
    const response = await fetch(`${emulator.base_url}/-/requests`);
    const [request] = await response.json();
    assert.equal(request.params.limit, "1");
    assert.equal(request.headers["api-key"], emulator.api_key);
  });

  it("says which status the service had", async (test) => {
    const emulator = await startEmulator(test);
    await control(emulator.base_url, "websites", { hostname: "example.com" });
    await control(emulator.base_url, "fail_next", { status: 503 });
    await assert.rejects(topPage(emulator, "example.com"), /status 503/);
  });
});
