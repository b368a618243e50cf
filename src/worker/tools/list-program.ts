import { printExecutable } from '../../bytecode/text/print.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { Tool } from './tool.ts';

/** The executable of a session as text. See `Session.listing`. */
export const openTool =
  (hosted: HostedSession): Tool<object, unknown, string> =>
  async () => ({ answer: printExecutable(hosted.machine.executable) });
