import type { Consumer } from '../consumer.ts';
import { checkOutcome, type Outcome } from '../outcome.ts';

/** Prints the outcome as its last line; the models are files. */
const MAIN = `import { check } from './check.js';
const outcome = await check('file://' + process.cwd() + '/models/');
console.log(JSON.stringify(outcome));
`;

interface Runtime {
  readonly name: string;
  readonly isHeavy: boolean;
  /** A command in an app's folder, whose node_modules has the package. */
  readonly command: (installed: (path: string) => string) => readonly string[];
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: `Node ${process.versions.node.split('.')[0]}, this one`,
    isHeavy: false,
    command: () => [process.execPath],
  },
  { name: 'Node 20', isHeavy: true, command: (at) => [at('node-20/bin/node')] },
  { name: 'Node 22', isHeavy: true, command: (at) => [at('node-22/bin/node')] },
  {
    name: 'Deno',
    isHeavy: true,
    command: (at) => [at('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-lock'],
  },
  { name: 'Bun', isHeavy: true, command: (at) => [at('@oven/bun-linux-x64/bin/bun'), 'run'] },
];

/** Consumers that run the package without a page. */
export const RUNTIME_CONSUMERS: readonly Consumer[] = RUNTIMES.map(
  ({ name, isHeavy, command }) => ({
    name,
    isHeavy,
    run: async (lab) => {
      const app = lab.makeApp(name.replaceAll(/\W+/g, '-').toLowerCase(), { 'start.mjs': MAIN });
      const [program = '', ...args] = command((path) => lab.installed(path));
      const output = await lab.tool(program, [...args, 'start.mjs'], app);
      const line = output.split('\n').find((text) => text.startsWith('{')) ?? '';
      return checkOutcome(JSON.parse(line) as Outcome);
    },
  }),
);
