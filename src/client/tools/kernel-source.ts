import type { KernelSource } from '../../core/contracts/kernel-source.ts';
import { answerOf, type AskedSession, askTool } from './ask-tool.ts';

/** See `Session.kernelSource`. */
export async function kernelSource(session: AskedSession, kernel: string): Promise<KernelSource> {
  return answerOf(askTool(session, ['source', { kernel }]));
}
