import { internalError } from '../../core/errors.ts';
import type { KernelSource } from '../../core/contracts/kernel-source.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';

/** The part of a session that is needed. */
interface AskedSession {
  control(request: ControlRequest): Promise<ControlReply>;
}

/** See `Session.kernelSource`. */
export async function kernelSource(session: AskedSession, kernel: string): Promise<KernelSource> {
  const { source } = await session.control({ kind: 'source', kernel, args: [] });
  if (source === undefined) throw internalError('a kernel without code');
  return source;
}
