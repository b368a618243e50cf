import type { BenchCase } from '../cases/bench-case.ts';
import { type Running, type StartOptions, timePart, typedElements } from './runtime.ts';

/** Loads a case with the built library. */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const library = await timePart(options, 'library', () => import('../../src/client/index.ts'));
  const begin = performance.now();
  const spans = new Map<string, { first: number; last: number }>();
  const source = options.isAheadOfTime ? benchCase.executable : benchCase.model;
  const session = await library.Session.load(source, {
    device: 'webgpu',
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
  return {
    async run() {
      const outputs = await session.run(feeds);
      return Object.values(outputs);
    },
  };
}
