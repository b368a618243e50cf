import type { Page } from 'playwright';
import type { SessionPage } from '../../e2e/pages/session.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import { compile, parseModule } from '../../src/frontend/index.ts';
import { buildReactionDiffusion } from '../models/reaction-diffusion.ts';
import { openPages } from '../open-pages.ts';

declare const weft: SessionPage;

const SIZE = 48;
/** Two steps each. */
const PAIRS = 5000;
/** The head of the loop of `main`, reached once for each pair. */
const LOOP = { function: 'main', instruction: 9 };
const STOP_AT_PAIR = 1777;

/** A tree of some hundred nodes, deeper on its left side, and a sum over it. */
const TREE = `
type Tree { Leaf(Tensor[(4,), float32]), Node(Tree, Tree) }
def @grow(%x: Tensor[(4,), float32], %n: int) -> Tree {
  if (int_lt(%n, #1)) { Leaf(%x) }
  else { Node(@grow(mul(%x, 0.75f), int_sub(%n, #1)), @grow(add(%x, 0.5f), int_sub(%n, #5))) }
}
def @total(%tree: Tree) -> Tensor[(4,), float32] {
  match (%tree) {
    Leaf(%x) => %x,
    Node(%left, %right) => tanh(sub(@total(%left), @total(%right))),
  }
}
def @main(%x: Tensor[(4,), float32], %n: int) { @total(@grow(%x, %n)) }`;
const TREE_DEPTH = 24;
/** Visits of `total` before the machine is paused. */
const TREE_VISIT = 300;
const LEAVES = [0.5, -1, 0.125, 2];

/** Machines that are stored in the middle of their work go on after a reload and on another device. */
export async function main(): Promise<number> {
  const pages = await openPages({ only: ['e2e/pages/session.html'] });
  try {
    const page = await pages.open('e2e/pages/session.html');
    const areGood = [await showSimulation(page), await showTree(page)];
    return areGood.every(Boolean) ? 0 : 1;
  } finally {
    await pages.close();
  }
}

function report(isGood: boolean, text: string): boolean {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
  return isGood;
}

/** 10,000 steps, straight and with a reload of the page in the middle: the same bits. */
async function showSimulation(page: Page): Promise<boolean> {
  const executable = Array.from(buildReactionDiffusion(SIZE).toBytes());
  const request = { executable, size: SIZE, pairs: PAIRS, at: LOOP, visit: STOP_AT_PAIR + 1 };
  const { cells: straight } = await page.evaluate(simulate, { ...request, visit: 0 });
  const stored = await page.evaluate(simulate, request);
  await page.reload();
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  const resumed = await page.evaluate(finish, request);
  const [half] = stored.calls;
  console.log(
    `       paused at step ${2 * STOP_AT_PAIR} of ${2 * PAIRS}, at instruction ${half?.at.instruction} ` +
      `of ${half?.at.function}; ${stored.byteLength} bytes; the page was reloaded`,
  );
  const isSame =
    straight.length > 0 &&
    straight.length === resumed.length &&
    straight.every((value, index) => Object.is(value, resumed[index]));
  const spread = Math.max(...straight) - Math.min(...straight);
  return report(
    isSame && spread > 0.1,
    `${2 * PAIRS} steps of a simulation, ${straight.length} cells: equal to the straight run, bit for bit`,
  );
}

interface SimulationRequest {
  readonly executable: number[];
  readonly size: number;
  readonly pairs: number;
  readonly at: { readonly function: string; readonly instruction: number };
  readonly visit: number;
}

/**
 * In the page: to the end, or up to a visit of a place, where the machine is left in the private file
 * system.
 */
async function simulate({ executable, size, pairs, at, visit }: SimulationRequest) {
  const { Session: PageSession, Tensor: PageTensor, opfsStore } = weft;
  const session = await PageSession.load(Uint8Array.from(executable), { device: 'webgpu' });
  const shape = [1, 1, size, size];
  const isNear = (place: number): boolean => Math.abs(place - size / 2) < 5;
  const v = Float32Array.from({ length: size * size }, (_, i) =>
    isNear(i % size) && isNear(Math.floor(i / size)) ? 1 : 0,
  );
  const paused = visit > 0 ? session.pause({ at, visit }) : undefined;
  const run = session.run({
    u: new PageTensor('float32', new Float32Array(size * size).fill(1), shape),
    v: new PageTensor('float32', v, shape),
    feed: new PageTensor('float32', Float32Array.of(0.0545), []),
    kill: new PageTensor('float32', Float32Array.of(0.062), []),
    pairs,
  });
  if (paused === undefined) {
    const outputs = await run;
    await session.dispose();
    const cells = [outputs['u'], outputs['v']].flatMap((tensor) =>
      Array.from(tensor?.data ?? [], Number),
    );
    return { calls: [], byteLength: 0, cells };
  }
  run.catch(() => undefined);
  const calls = await paused;
  const store = await opfsStore('show');
  const checkpoints = await session.checkpointTo(store, { everyMs: 60_000 });
  await checkpoints.now();
  return { calls, byteLength: (await store.latest())?.byteLength ?? 0, cells: [] };
}

/** In the page as it is after the reload. */
async function finish({ executable }: SimulationRequest): Promise<number[]> {
  const store = await weft.opfsStore('show');
  const bytes = await store.latest();
  if (bytes === undefined) return [];
  const session = await weft.Session.resume(bytes, {
    executable: Uint8Array.from(executable),
    device: 'webgpu',
  });
  const outputs = await session.resumed.runs[0]?.result();
  await session.dispose();
  await store.clear();
  return [outputs?.['u'], outputs?.['v']].flatMap((tensor) =>
    Array.from(tensor?.data ?? [], Number),
  );
}

/** A recursion that began on WebGPU in the page and ends here, on the host. */
async function showTree(page: Page): Promise<boolean> {
  const executable = compile(parseModule(TREE)).toBytes();
  const at = { function: 'total', instruction: 0 };
  const { calls, bytes } = await page.evaluate(pauseInTree, {
    executable: Array.from(executable),
    leaves: LEAVES,
    depth: TREE_DEPTH,
    at,
    visit: TREE_VISIT,
  });
  const session = await Session.resume(Uint8Array.from(bytes), {
    executable,
    device: 'host',
    worker: false,
  });
  const outputs = await session.resumed.runs[0]?.result();
  const got = Array.from(Object.values(outputs ?? {})[0]?.data ?? [], Number);
  const straight = await session.run({ x: Tensor.from(LEAVES), n: TREE_DEPTH });
  const host = Array.from(Object.values(straight)[0]?.data ?? [], Number);
  await session.dispose();
  const expected = LEAVES.map((leaf) => total(leaf, TREE_DEPTH));
  const isGood = [got, host].every(
    (values) =>
      values.length === LEAVES.length &&
      values.every((value, index) => Math.abs(value - (expected[index] ?? 0)) < 1e-5),
  );
  const depth = calls[0]?.depth ?? 0;
  console.log(`       paused on webgpu with ${depth} frames; ${bytes.length} bytes`);
  return report(
    isGood && depth > 8,
    `a sum over a tree, finished on the ${session.device.kind} device: ${got.map((x) => x.toFixed(6)).join(', ')}`,
  );
}

/** The program's result, in double precision. */
function total(x: number, n: number): number {
  return n < 1 ? x : Math.tanh(total(x * 0.75, n - 1) - total(x + 0.5, n - 5));
}

interface TreeRequest extends Pick<SimulationRequest, 'executable' | 'at' | 'visit'> {
  readonly leaves: number[];
  readonly depth: number;
}

/** In the page. */
async function pauseInTree({ executable, leaves, depth, at, visit }: TreeRequest) {
  const session = await weft.Session.load(Uint8Array.from(executable), { device: 'webgpu' });
  const paused = session.pause({ at, visit });
  session.run({ x: weft.Tensor.from(leaves), n: depth }).catch(() => undefined);
  const calls = await paused;
  const bytes = await session.snapshot();
  await session.dispose();
  return { calls, bytes: Array.from(bytes) };
}
