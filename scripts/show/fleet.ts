import type { Page } from 'playwright';
import { openBroker } from '../../src/cli/rpc/open-broker.ts';
import { startNatsServer } from '../../src/cli/rpc/testing/nats-server.ts';
import { compile, parseModule } from '../../src/frontend/index.ts';
import { createToken, HostTensor, RemoteLostError, type RpcFunction } from '../../src/rpc/index.ts';
import { Fleet, type FleetFunction, type FleetModule } from '../../src/rpc/nats/index.ts';
import { firstDifference } from '../../src/core/tensor/all-close.ts';
import { installNatsServer } from '../install-nats-server.mjs';
import { openPages, type Pages } from '../open-pages.ts';

const PAGES = 4;
const CALLS = 1000;
const WIDTH = 16;
const GROUP = 'show';

const ROWS = `Tensor[(1, ${WIDTH}), float32]`;

/** `y = 2 x + sum(x)`, after a function of the client has seen `x`. */
const PROGRAM = `def @main(%x: ${ROWS}, %pass: fn (${ROWS}) -> ${ROWS}) -> ${ROWS} {
  let %y = %pass(%x);
  add(add(%y, %y), reduce_sum(%y, axes=[1], keepdims=true))
}`;

/** The outcome of a call, and how often it ran. */
interface Outcome {
  runs: number;
  results: number;
  lost: number;
  problem: string | undefined;
}

/**
 * Four pages lend their devices over NATS; 1,000 calls run at the same time. Each calls back a function of
 * this side, which lets half of them pass and keeps the others until one page was killed. Each call has
 * exactly one result, which is right, or one RemoteLostError, and only calls of that page have errors.
 */
export async function main(): Promise<number> {
  installNatsServer(process.cwd());
  const program = compile(parseModule(PROGRAM));
  const auth = createToken();
  const token = createToken();
  const server = await startNatsServer({ auth });
  const pages = await openPages({ only: ['rpc.html'] });
  const nats = await openBroker(server.url, { auth, name: 'show' });
  try {
    const lenders: Page[] = [];
    for (let i = 0; i < PAGES; i++) {
      const fields = { nats: `${server.webSocketUrl}/`, group: GROUP, token, auth };
      lenders.push(await lend(pages, { ...fields, name: `page ${i + 1}`, device: deviceOf(i) }));
    }
    const fleet = new Fleet(nats, { token, name: 'show' });
    const module = await fleet.load(program, { query: `group=${GROUP}` });
    const run = await module.getFunction('main');
    // The first call of each page gets its kernels ready.
    const pass: RpcFunction = (x) => x ?? null;
    await Promise.all(Array.from({ length: PAGES }, (_, i) => run(input(i), pass)));
    const [victim] = lenders;
    if (victim === undefined) throw new Error('internal: no page');
    return await fly(module, run, victim);
  } finally {
    await nats.close();
    await pages.close();
    await server.close();
  }
}

/** Half of the pages lend WebGPU, the others the host. */
function deviceOf(page: number): string {
  return page % 2 === 0 ? 'webgpu' : 'host';
}

async function lend(pages: Pages, fields: Readonly<Record<string, string>>): Promise<Page> {
  const page = await pages.open(`rpc.html#${new URLSearchParams(fields).toString()}`);
  await page.getByRole('button', { name: 'Lend this device' }).click();
  await page.locator('#state[data-state="lent"]').waitFor();
  return page;
}

/** All calls at once; the page is killed half-way. Resolves to the exit status. */
async function fly(module: FleetModule, run: FleetFunction, victim: Page): Promise<number> {
  const outcomes = Array.from(
    { length: CALLS },
    (): Outcome => ({
      runs: 0,
      results: 0,
      lost: 0,
      problem: undefined,
    }),
  );
  let kill: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  });
  const pass: RpcFunction = async (x) => {
    // The first element is the number of the call.
    const i = x instanceof HostTensor ? Number(x.data[0]) : Number.NaN;
    const outcome = outcomes[i];
    if (outcome !== undefined) outcome.runs++;
    if (i >= CALLS / 2) await killed;
    return x ?? null;
  };
  let answered = 0;
  const startedAt = performance.now();
  const calls = outcomes.map(async (outcome, i) => {
    try {
      const result = await run(input(i), pass);
      outcome.results++;
      outcome.problem = check(result, i);
      if (++answered === CALLS / 2) void victim.close().then(kill, kill);
    } catch (error) {
      if (error instanceof RemoteLostError) outcome.lost++;
      else outcome.problem = String(error);
    }
  });
  // Each call went to a device at once.
  const given = new Map(module.members.map(({ name, pending }) => [name, pending]));
  await Promise.all(calls);
  const durationMs = performance.now() - startedAt;
  return report(module, { outcomes, given, durationMs });
}

function report(
  module: FleetModule,
  {
    outcomes,
    given,
    durationMs,
  }: {
    readonly outcomes: readonly Outcome[];
    readonly given: ReadonlyMap<string, number>;
    readonly durationMs: number;
  },
): number {
  const sum = (count: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  const left = module.members.map(({ name }) => name);
  console.log('page      calls  state');
  for (const [name, count] of given) {
    const state = left.includes(name) ? 'answered all' : 'killed';
    console.log(`${name.padEnd(8)} ${String(count).padStart(6)}  ${state}`);
  }
  const problems = outcomes.flatMap(({ problem }) => problem ?? []);
  const odd = outcomes.filter(({ results, lost }) => results + lost !== 1).length;
  const again = outcomes.filter(({ runs }) => runs > 1).length;
  const lost = sum((outcome) => outcome.lost);
  const killed = [...given].filter(([name]) => !left.includes(name));
  const atMost = killed.reduce((total, [, count]) => total + count, 0);
  console.log(
    `${CALLS} calls at once in ${(durationMs / 1000).toFixed(2)} s: ${sum(({ results }) => results)} results, ` +
      `${lost} RemoteLostError (the killed page had ${atMost}), ${odd} with neither or both, ` +
      `${again} run twice, ${problems.length} wrong`,
  );
  for (const problem of problems.slice(0, 5)) console.error(problem);
  const holds =
    problems.length === 0 &&
    odd === 0 &&
    again === 0 &&
    killed.length === 1 &&
    left.length === PAGES - 1 &&
    lost > 0 &&
    lost <= atMost;
  console.log(holds ? 'all as expected' : 'not as expected');
  return holds ? 0 : 1;
}

function input(seed: number): HostTensor {
  const elements = Array.from({ length: WIDTH }, (_, column) => seed + column);
  return HostTensor.from('float32', [1, WIDTH], elements);
}

function check(result: unknown, seed: number): string | undefined {
  if (!(result instanceof HostTensor)) return `call ${seed}: no tensor`;
  const x = Array.from(input(seed).data, Number);
  const total = x.reduce((sum, element) => sum + element, 0);
  const expected = HostTensor.from(
    'float32',
    [1, WIDTH],
    x.map((element) => 2 * element + total),
  );
  const difference = firstDifference(result, expected, { rtol: 1e-6, atol: 1e-6 });
  return difference === undefined ? undefined : `call ${seed}: ${difference}`;
}
