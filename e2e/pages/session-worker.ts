import { FloatValue } from '../../src/runtime/index.ts';
import { serve } from '../../src/worker/index.ts';

// A page's own worker brings packed functions.
serve({
  functions: {
    'test.twice': (x: number) => x * 2,
    'test.half': (x: number) => new FloatValue(x / 2),
    'test.close': () => {
      globalThis.close();
    },
  },
});
