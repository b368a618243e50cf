import { type Remote, wrap } from 'comlink';
import type { ProgramService } from './program-service.ts';

/** The service in a worker of its own. */
export interface StartedService {
  readonly service: Remote<ProgramService>;
  stop(): void;
}

/** Starts the inspector's worker. Throws where a policy of the page forbids it. */
export function startService(): StartedService {
  const worker = new Worker(new URL('./inspector-worker-main.ts', import.meta.url), {
    type: 'module',
    name: 'weft-inspector',
  });
  return { service: wrap<ProgramService>(worker), stop: () => worker.terminate() };
}
