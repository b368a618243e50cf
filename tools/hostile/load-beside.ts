import type { LoadOptions, Session, Tensor } from '../../src/client/index.ts';

/** Observations while a hostile model was loaded beside a working session. */
export interface SeenBeside {
  /** Name of the error, or `loaded`. */
  readonly outcome: string;
  readonly seconds: number;
  /** The longest that `memory()` and a run of the other session took together. */
  readonly longestMs: number;
}

/** Of the package, or of the sources. */
export interface Client {
  readonly Session: typeof Session;
  readonly Tensor: typeof Tensor;
}

const PAUSE_MS = 10;

/**
 * Loads a model while `innocent`, which takes `x` of one element, is asked again and again. In Node and
 * in pages.
 */
export async function loadBeside(
  { Session: sessions, Tensor: tensors }: Client,
  { innocent, bytes, options }: { innocent: Session; bytes: Uint8Array; options: LoadOptions },
): Promise<SeenBeside> {
  const x = new tensors('float32', Float32Array.of(-1), [1]);
  const start = performance.now();
  const load = { isOver: false };
  const loading = loadOnce(sessions, { bytes, options }).then((outcome) => {
    load.isOver = true;
    return outcome;
  });
  let longestMs = 0;
  while (!load.isOver) {
    const sentMs = performance.now();
    await innocent.memory();
    await innocent.run({ x });
    longestMs = Math.max(longestMs, performance.now() - sentMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return { outcome: await loading, seconds: (performance.now() - start) / 1000, longestMs };
}

/** `loaded`, or the name of the error. */
async function loadOnce(
  sessions: typeof Session,
  { bytes, options }: { bytes: Uint8Array; options: LoadOptions },
): Promise<string> {
  try {
    const session = await sessions.load(bytes, options);
    await session.dispose();
    return 'loaded';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}
