import { FloatValue } from '../../src/runtime/index.ts';
import { serve } from '../../src/worker/index.ts';
import { importers, operators } from '../../src/frontend/onnx/testing/own-operators.ts';

const threads = new BroadcastChannel('threads');

/** Tells the page of each thread that this worker starts or ends. */
class ToldWorker extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args);
    threads.postMessage('started');
  }

  override terminate(): void {
    super.terminate();
    threads.postMessage('ended');
  }
}

globalThis.Worker = ToldWorker;

/** A generator of random numbers that fits a byte. */
let random = 7;

// A page's own worker brings packed functions and what they keep, and operators with their importers.
serve({
  operators,
  importers,
  functions: {
    'test.twice': (x: number) => x * 2,
    'test.half': (x: number) => new FloatValue(x / 2),
    'test.close': () => {
      globalThis.close();
    },
    'test.throw': () => {
      random = (random * 33 + 5) % 251;
      return 1 + (random % 6);
    },
  },
  states: {
    dice: {
      save: () => Uint8Array.of(random),
      restore: ([state = 0]: Uint8Array) => {
        random = state;
      },
    },
  },
});
