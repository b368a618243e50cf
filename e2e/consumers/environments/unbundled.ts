import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../consumer.ts';
import type { Lab } from '../lab.ts';
import { checkOutcome, checkRefusal } from '../outcome.ts';
import type { Headers } from '../serve-folder.ts';

const PACKAGE = '/node_modules/weft-vm/dist/';

/** A page that finds the package by an import map and runs `main.js`. */
function page(base: string, main = '/main.js', nonce = ''): string {
  const map = JSON.stringify({ imports: { 'weft-vm': `${base}client.js` } });
  const attribute = nonce === '' ? '' : ` nonce="${nonce}"`;
  return `<!doctype html>
<script type="importmap"${attribute}>${map}</script>
<script type="module" src="${main}"></script>`;
}

/** An import map is inline; a policy lets it through by a nonce. */
const NONCE = 'bWFw';
const policy =
  (text: string): Headers =>
  () => ({ 'content-security-policy': text });
const STRICT = `default-src 'self'; script-src 'self' 'nonce-${NONCE}'`;
const TRUSTED = `${STRICT}; require-trusted-types-for 'script'`;
const shared: Headers = () => ({ 'access-control-allow-origin': '*' });

async function ownOrigin(lab: Lab, name: string, headers?: Headers, files = {}) {
  const app = lab.makeApp(name, { 'index.html': page(PACKAGE, '/main.js', NONCE), ...files });
  const { origin } = await lab.serve(app, headers);
  return lab.open(`${origin}/`);
}

interface ForeignOptions {
  /** The policy of the page, with the other origin put in for CDN. */
  readonly policy?: string;
  /** Headers for the files of the other origin. */
  readonly headers?: Headers;
  /** The app's main.js, with the other origin put in for CDN. */
  readonly main?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** The page on one origin, the package on another. */
async function otherOrigin(lab: Lab, name: string, options: ForeignOptions = {}) {
  const app = lab.makeApp(name);
  const { origin: cdn } = await lab.serve(app, options.headers ?? shared);
  const put = (text: string): string => text.replaceAll('CDN', cdn);
  const own = lab.makeApp(`${name}-page`, {
    'index.html': page(`${cdn}${PACKAGE}`, '/main.js', NONCE),
    ...(options.main === undefined ? {} : { 'main.js': put(options.main) }),
  });
  for (const [path, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(own, path), put(text));
  }
  const { policy: text } = options;
  const { origin } = await lab.serve(own, text === undefined ? undefined : policy(put(text)));
  return lab.open(`${origin}/`);
}

const withOptions = (options: string): string => `import { check } from './check.js';
check(new URL('/models/', location.href), ${options}).then((outcome) => { globalThis.outcome = outcome; });
`;

const FOREIGN = `default-src 'self'; script-src 'self' CDN 'nonce-${NONCE}'; connect-src 'self' CDN`;

/** Pages without a bundler, under the policies that hosts send. */
export const UNBUNDLED: readonly Consumer[] = [
  {
    name: 'import map',
    run: async (lab) => checkOutcome(await ownOrigin(lab, 'import-map')),
  },
  {
    name: 'worker: false, the machine from the files of the worker',
    run: async (lab) =>
      checkOutcome(
        await ownOrigin(lab, 'in-page', policy(STRICT), {
          'main.js': withOptions('{ worker: false }'),
        }),
      ),
  },
  {
    name: 'worker: false with operators of its own',
    run: async (lab) =>
      checkOutcome(
        await ownOrigin(lab, 'in-page-tables', policy(STRICT), {
          'main.js': `import { coreOperators, Operators } from '${PACKAGE}operators.js';
${withOptions('{ worker: false, operators: new Operators([...coreOperators]) }')}`,
        }),
      ),
  },
  {
    name: "default-src 'self'",
    run: async (lab) => checkOutcome(await ownOrigin(lab, 'strict', policy(STRICT))),
  },
  {
    name: 'Trusted Types',
    run: async (lab) => checkOutcome(await ownOrigin(lab, 'trusted', policy(TRUSTED))),
  },
  {
    name: 'Trusted Types, trusted-types weft',
    run: async (lab) =>
      checkOutcome(await ownOrigin(lab, 'trusted-weft', policy(`${TRUSTED}; trusted-types weft`))),
  },
  {
    name: 'Trusted Types without weft: says what to allow',
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(lab, 'trusted-none', policy(`${TRUSTED}; trusted-types other`)),
        '/dist/worker/weft-worker.js',
        'Content-Security-Policy (trusted-types)',
        'Allow the policy of weft-vm: trusted-types weft.',
      ),
  },
  {
    name: "worker-src 'none': says what to allow",
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(lab, 'no-workers', policy(`${STRICT}; worker-src 'none'`)),
        '/dist/worker/weft-worker.js',
        'Content-Security-Policy (worker-src)',
        "Allow its address in worker-src, such as worker-src 'self'.",
      ),
  },
  {
    name: 'workerFiles that are missing: says so',
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(lab, 'missing', undefined, {
          'main.js': withOptions("{ workerFiles: '/nowhere' }"),
        }),
        '/nowhere/weft-worker.js: got HTTP status 404',
        'Copy the folder dist/worker',
      ),
  },
  {
    name: 'a page in the place of workerFiles: says so',
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(
          lab,
          'wrong-type',
          (path) => (path.startsWith('/pages/') ? { 'content-type': 'text/html' } : {}),
          {
            'main.js': withOptions("{ workerFiles: '/pages/' }"),
            'pages/weft-worker.js': '<!doctype html>',
          },
        ),
        '/pages/weft-worker.js: got a file of type text/html',
        'Some servers answer every address with a page.',
      ),
  },
  {
    name: 'a worker that does not answer: says so in time',
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(lab, 'silent', undefined, {
          'main.js': withOptions("{ workerFiles: '/silent', workerTimeout: 700 }"),
          'silent/weft-worker.js': 'addEventListener("message", () => undefined);\n',
        }),
        '/silent/weft-worker.js: got no answer within 700 ms',
        'raise workerTimeout',
      ),
  },
  {
    name: 'a worker that throws: says what',
    run: async (lab) =>
      checkRefusal(
        await ownOrigin(lab, 'throwing', undefined, {
          'main.js': withOptions("{ workerFiles: '/throwing' }"),
          'throwing/weft-worker.js': 'throw new Error("not a worker of weft");\n',
        }),
        'The worker failed: Uncaught Error: not a worker of weft.',
      ),
  },
  {
    name: 'another origin',
    run: async (lab) => checkOutcome(await otherOrigin(lab, 'other-origin')),
  },
  {
    name: 'another origin, worker-src with blob: and it',
    run: async (lab) =>
      checkOutcome(
        await otherOrigin(lab, 'other-blob', { policy: `${FOREIGN}; worker-src blob: CDN` }),
      ),
  },
  {
    name: 'another origin, strict: says what to do',
    run: async (lab) =>
      checkRefusal(
        await otherOrigin(lab, 'other-strict', { policy: FOREIGN }),
        '/dist/worker/weft-worker.js',
        'Content-Security-Policy (worker-src)',
        "Copy the folder dist/worker of weft-vm to the page's origin",
      ),
  },
  {
    name: 'another origin, strict, a worker of one line',
    run: async (lab) =>
      checkOutcome(
        await otherOrigin(lab, 'other-line', {
          policy: FOREIGN,
          main: withOptions("{ worker: () => new Worker('/worker.js', { type: 'module' }) }"),
          files: { 'worker.js': `import 'CDN${PACKAGE}worker/weft-worker.js';\n` },
        }),
      ),
  },
  {
    name: 'another origin, strict, workerFiles',
    run: async (lab) =>
      checkOutcome(
        await otherOrigin(lab, 'other-files', {
          policy: FOREIGN,
          main: withOptions(`{ workerFiles: '${PACKAGE}worker' }`),
        }),
      ),
  },
];
