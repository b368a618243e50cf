import type { DeviceTensor, Session, Tensor } from '../../src/client/index.ts';
import type { BenchCase } from '../cases/bench-case.ts';
import { type Running, sourceAt, type StartOptions, timePart, typedElements } from './runtime.ts';

/** Loads a case with the built library. Resident: with an executable that has a function `hold`. */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const library = await timePart(options, 'library', () => import('../../src/client/index.ts'));
  const begin = performance.now();
  const spans = new Map<string, { first: number; last: number }>();
  const session = await library.Session.load(sourceAt(fileOf(benchCase, options)), {
    device: options.device,
    ...(options.isInPage && { worker: false }),
    ...options.session,
    onProgress({ phase }) {
      const now = performance.now();
      const span = spans.get(phase) ?? { first: spans.size === 0 ? begin : now, last: now };
      span.last = now;
      spans.set(phase, span);
    },
  });
  options.part('load', performance.now() - begin);
  // Phases overlap: their sum may exceed the load.
  for (const [phase, { first, last }] of spans) options.part(`of it ${phase}`, last - first);
  const feeds = Object.fromEntries(
    benchCase.inputs.map((input, i) => [
      session.inputs[i]?.name ?? '',
      new library.Tensor(input.dtype, typedElements(input), input.shape),
    ]),
  );
  if (options.isResident) return stay(session, feeds);
  let outputs: Record<string, Tensor> = {};
  return {
    async run() {
      for (const output of Object.values(outputs)) output.dispose();
      outputs = await session.run(feeds);
      return Object.values(outputs);
    },
    stop: () => session.dispose(),
  };
}

function fileOf(benchCase: BenchCase, { isAheadOfTime, isResident }: StartOptions): string {
  if (!isResident) return isAheadOfTime ? benchCase.executable : benchCase.model;
  if (benchCase.resident === undefined) throw new Error('internal: nothing to be resident');
  return benchCase.resident;
}

/** Runs on a handle of the input, each to a handle that is dropped. */
async function stay(session: Session, feeds: Record<string, Tensor>): Promise<Running> {
  const held = await session.run(feeds, { function: 'hold', keep: 'device' });
  const inputs = Object.fromEntries(
    Object.keys(feeds).map((name, i) => [name, Object.values(held)[i] as DeviceTensor]),
  );
  return {
    async run() {
      const outputs = await session.run(inputs, { keep: 'device' });
      for (const output of Object.values(outputs)) output.dispose();
      return [];
    },
    async read(): Promise<Tensor[]> {
      return Object.values(await session.run(inputs));
    },
    stop: () => session.dispose(),
  };
}
