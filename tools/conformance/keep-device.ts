import { ExecBuilder } from '../../src/bytecode/index.ts';
import { Session } from '../../src/client/index.ts';
import type { RunCaseOptions } from './run-case.ts';

/**
 * A session that does nothing but hold the worker and the device that sessions share, so that all
 * cases have one of each and find the pipelines of those before them. Dispose of it in the end.
 */
export function keepDevice({
  device,
  worker,
  gpu,
}: Pick<RunCaseOptions, 'device' | 'worker' | 'gpu'>): Promise<Session> {
  const builder = new ExecBuilder();
  const main = builder.function('main', ['x']);
  main.ret(main.param('x'));
  const bytes = builder.build().toBytes();
  return Session.load(bytes, { device, worker, ...(gpu === undefined ? {} : { gpu }) });
}
