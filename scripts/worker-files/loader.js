/* global CHUNKS, LISTS, FILES, ENTRY, importFile */
// The head of weft-worker.js: makes chunks of the functions that the worker's files bring along.
// A bundler copies these files one by one and under other names, so the page says where they are.
const chunks = (self.weftChunks = CHUNKS);
// A page that has the machine in its own thread.
const page = self.weftPage;
const made = {};
const files = {};

const need = (id) => (made[id] ??= chunks[id](need, load));

async function load(id) {
  const names = LISTS[FILES[id]]?.match(/\w+/g) ?? [];
  await Promise.all(names.map((name) => (files[name] ??= fetchFile(name))));
  return need(id);
}

async function fetchFile(name) {
  const { [name]: known, main = self.location } = page?.files ?? self.weftFiles ?? {};
  const address = known ?? new URL(`weft-worker-${name}.js`, main).href;
  try {
    await importFile(address);
  } catch (cause) {
    // The next call tries again.
    delete files[name];
    const error = new Error(
      `The worker's file ${address} could not be loaded. Serve all files of the folder dist/worker of weft-vm, side by side, and give its address to Session.load as workerFiles.`,
      { cause },
    );
    error.name = 'WorkerError';
    throw error;
  }
}

need(ENTRY);
