import { internalError } from '../../core/errors.ts';
import type { ControlReply } from '../../worker/protocol/control-request.ts';
import type { ToolAnswer, ToolName, ToolRequest } from '../../worker/tools/tools.ts';
import type { HandleOwner } from '../values/device-tensor.ts';
import type { Inputs } from '../values/input-value.ts';

/** What is asked about a run, but for the name of its function. */
export type RunQuestion<Name extends ToolName, Request = ToolRequest<Name>> = Request extends {
  readonly functionName: string;
}
  ? Omit<Request, 'functionName'>
  : never;

/** Asks a tool of a session about a run of a function on inputs. */
export type AskAboutRun = <Name extends ToolName>(
  inputs: Inputs,
  tool: Name,
  question: RunQuestion<Name>,
) => Promise<ToolReply<Name>>;

export type ToolReply<Name extends ToolName> = ControlReply & {
  readonly answer?: ToolAnswer<Name>;
};

export type ToolSession = Pick<HandleOwner, 'control'>;

export function askTool<Name extends ToolName>(
  session: ToolSession,
  [tool, request]: readonly [tool: Name, request: ToolRequest<Name>],
  options?: { readonly signal?: AbortSignal | undefined },
): Promise<ToolReply<Name>> {
  const reply = session.control({ kind: 'tool', tool, request, args: [] }, options);
  return reply as Promise<ToolReply<Name>>;
}

export async function answerOf<Answer>(
  reply: Promise<{ readonly answer?: Answer }>,
): Promise<Answer> {
  const { answer } = await reply;
  if (answer === undefined) throw internalError('a reply without an answer');
  return answer;
}
