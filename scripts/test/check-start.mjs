// Starts the page as `npm start` does, reads what it prints and fetches what the page needs first.
import { spawn } from 'node:child_process';
import { root } from './stages.mjs';

const child = spawn(process.execPath, ['scripts/start.mjs'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, CI: 'true' },
});

/** Resolves to all that was printed when it says that it is ready; rejects when it ends before. */
function readyText() {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (part) => {
      text += part;
      if (text.includes('Ctrl+C')) resolve(text);
    });
    child.on('exit', (code) => reject(new Error(`npm start ended with status ${code}:\n${text}`)));
  });
}

/** The text at an address and the policy it comes with; throws when there is none. */
async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP status ${response.status}`);
  const policy = response.headers.get('content-security-policy');
  return { text: await response.text(), policy };
}

/** Throws unless an address came with the policy. */
function expectPolicy(url, policy, expected) {
  if (policy === expected) return;
  throw new Error(`${url}: the policy is "${policy}", expected "${expected}"`);
}

try {
  const text = await readyText();
  console.log(text.trim());
  const address = /Weft is at (\S+)/.exec(text)?.[1];
  if (address === undefined) throw new Error('It says no address.');
  if (!text.includes('Open that address in a browser')) {
    throw new Error('It does not say how to open the page where no browser opens.');
  }
  const page = await fetched(address);
  // The page states the policy that the server sends, for hosts that send none.
  const own = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page.text)?.[1];
  if (!own?.startsWith("default-src 'self'")) throw new Error(`The page's own policy is ${own}.`);
  expectPolicy(address, page.policy, own);
  const relay = /<meta name="weft-relay" content="ws:(\S+) \S{16,}"/.exec(page.text)?.[1];
  const { status } = await fetch(`http:${relay}`);
  if (status !== 426) throw new Error(`The relay at ${relay} answers with ${status}, not 426.`);
  const script = /<script type="module"[^>]* src="([^"]+)"/.exec(page.text)?.[1];
  if (script === undefined) throw new Error(`The page has no script:\n${page.text}`);
  for (const path of [script, 'ticket.svg', 'models/digits.weft']) {
    const { text: content, policy } = await fetched(new URL(path, address));
    expectPolicy(path, policy, "default-src 'self'");
    console.log(`${path}: ${content.length} characters`);
    if (content.length === 0) throw new Error(`${path} is empty.`);
  }
} finally {
  child.removeAllListeners('exit');
  child.kill();
}
