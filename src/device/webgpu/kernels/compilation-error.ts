import { DeviceError } from '../../../core/errors.ts';
import type { Launch } from '../../../core/contracts/launch-plan.ts';

/** Characters of a line at fault that are quoted before and behind the fault. */
const QUOTED_LENGTH = 100;

/** Quotes the lines at fault of a shader. A file of its own, loaded when there is one. */
export async function compilationError(
  { label, code }: Pick<Launch, 'label' | 'code'>,
  module: GPUShaderModule,
  cause: unknown,
): Promise<DeviceError> {
  const { messages } = await module.getCompilationInfo();
  const lines = code.split('\n');
  const complaints = messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, linePos, message }) => {
      // A shader of a production build has long lines.
      const from = Math.max(0, linePos - QUOTED_LENGTH);
      const line = lines[lineNum - 1]?.slice(from, linePos + QUOTED_LENGTH);
      return `line ${lineNum}:${linePos}: ${message}${line === undefined ? '' : `\n  ${line.trim()}`}`;
    });
  const reason = cause instanceof Error ? cause.message : String(cause);
  const text = complaints.length > 0 ? complaints.join('\n') : reason.trim();
  return new DeviceError(`shader ${label} does not compile: ${text}`, { cause });
}
