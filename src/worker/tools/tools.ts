import type { HostedSession } from '../host/hosted-session.ts';
import type { Tool, ToolContext, ToolReply, WatchedProgram } from './tool.ts';

/**
 * The tools that look inside a session, by their names. Each is a file, which loads with the first request to it. Those that
 * only watch kernels run on the side of the page, wherever the session is: see {@link WatchedProgram}.
 */
export const TOOLS = {
  debug: { load: () => import('./debug-session.ts') },
  listing: { load: () => import('./list-program.ts') },
  ranges: { watches: true, load: () => import('./measure-ranges.ts') },
  source: { load: () => import('./kernel-source.ts') },
  timeline: { load: () => import('./timeline-session.ts') },
  trace: { watches: true, load: () => import('./trace-session.ts') },
  tune: { load: () => import('./tune-session.ts') },
  verify: { watches: true, load: () => import('./verify-session.ts') },
} as const;

export type ToolName = keyof typeof TOOLS;

type OpenTool<Name extends ToolName> = Awaited<
  ReturnType<(typeof TOOLS)[Name]['load']>
>['openTool'];

export type ToolRequest<Name extends ToolName> = Parameters<ReturnType<OpenTool<Name>>>[0];

export type ToolAnswer<Name extends ToolName> = Awaited<
  ReturnType<ReturnType<OpenTool<Name>>>
>['answer'];

type AnyTool = Tool<object, ToolContext | WatchedProgram, unknown>;

/** The tools that were asked about a session, each open from its first request on. */
export class OpenTools {
  /** Undefined for a session on a lent device. */
  readonly #hosted: HostedSession | undefined;
  readonly #open = new Map<string, Promise<AnyTool>>();

  constructor(hosted?: HostedSession) {
    this.#hosted = hosted;
  }

  async ask(
    name: ToolName,
    request: object,
    context: ToolContext | WatchedProgram,
  ): Promise<ToolReply<unknown>> {
    const load: () => Promise<object> = TOOLS[name].load;
    const open = async (): Promise<AnyTool> => {
      const module = (await load()) as { openTool(hosted?: HostedSession): AnyTool };
      return module.openTool(this.#hosted);
    };
    const opening = this.#open.get(name) ?? open();
    this.#open.set(name, opening);
    // Its file may come at the next request.
    opening.catch(() => this.#open.delete(name));
    return (await opening)(request, context);
  }
}

/** Returns true if a tool only watches the kernels of a program. */
export const isWatching = (name: ToolName): boolean => 'watches' in TOOLS[name];
