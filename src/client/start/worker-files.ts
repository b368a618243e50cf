import type { OwnTables, WorkerFiles } from '../../worker/protocol/session-service.ts';

// In the package another module takes the place of this one: see scripts/worker-files.

/** Where the files of the package's worker are; the sources have none, since Vite bundles them. */
export function workerFiles(): WorkerFiles | undefined {
  return undefined;
}

/** The texts of the files, for where a bundler left them behind. */
export async function importTexts(): Promise<WorkerFiles> {
  throw new Error('only the package has them');
}

/** The machine for this thread: in Node the package's module, in a page the worker's files, or what a table of one's own brings. */
export async function importMachine({ device }: MachineChoice) {
  const [machine] = await Promise.all([
    import('../../worker/index.ts'),
    device === 'wasm' ? import('../../worker/devices/open-wasm.ts') : undefined,
  ]);
  return machine;
}

/** What a session wants of the machine of its thread. */
export interface MachineChoice {
  /** Whose code to bring along. */
  readonly device?: string | undefined;
  /** A table of one's own, whose classes the machine has to share. */
  readonly operators?: OwnTables['operators'];
}

export function startSource(): Worker {
  return new Worker(new URL('../../worker/worker-main.ts', import.meta.url), { type: 'module' });
}

/** The same worker, which compiles: its name tells it so. Vite reads the name, so it stands here. */
export function startSourceCompiler(): Worker {
  return new Worker(new URL('../../worker/worker-main.ts', import.meta.url), {
    type: 'module',
    name: 'weft-compiler',
  });
}
