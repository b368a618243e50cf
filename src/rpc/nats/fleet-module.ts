import { DISPOSE } from '../../core/async/dispose-symbols.ts';
import { UsageError } from '../../core/errors.ts';
import type { Remote } from '../connect.ts';
import { RemoteLostError } from '../errors.ts';
import type { RemoteFunction } from '../values/remote-handles.ts';
import type { RemoteModule } from '../remote-module.ts';
import type { RpcInput, RpcValue } from '../values/rpc-value.ts';

/** An executable on one device. */
export interface LoadedOn {
  readonly remote: Remote;
  readonly module: RemoteModule;
}

interface Member extends LoadedOn {
  /** Calls that were not answered yet. */
  pending: number;
}

/** A function that is called on whichever device has the fewest calls. */
interface FleetFunction {
  (...args: RpcInput[]): Promise<RpcValue>;
  /** Calls it with options. Rejects with what it throws on the device, and with RemoteLostError. */
  invoke(
    args: readonly RpcInput[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RpcValue>;
}

/** An executable that several devices of a fleet have loaded: a module, as the RPC of TVM calls it. */
export class FleetModule {
  readonly #members = new Set<Member>();

  constructor(loaded: readonly LoadedOn[]) {
    for (const { remote, module } of loaded) {
      const member: Member = { remote, module, pending: 0 };
      this.#members.add(member);
      void remote.closed.then(() => this.#members.delete(member));
    }
  }

  /** The connections that are open, and how many calls each has to answer. */
  get members(): readonly { readonly name: string; readonly pending: number }[] {
    return [...this.#members].map(({ remote: { name }, pending }) => ({ name, pending }));
  }

  /**
   * A function of the executable. Each call goes to one device, once: when that is lost it rejects with
   * RemoteLostError, because it may have run. Whoever knows that it may run twice calls again.
   * Rejects with UsageError when there is no such function.
   */
  async getFunction(name: string): Promise<FleetFunction> {
    const functions = new Map<Member, RemoteFunction>();
    await Promise.all(
      [...this.#members].map(async (member) => {
        const found = await member.module.getFunction(name).catch((error: unknown) => {
          if (error instanceof RemoteLostError) return undefined;
          throw error;
        });
        if (found !== undefined) functions.set(member, found);
      }),
    );
    const invoke: FleetFunction['invoke'] = async (args, { signal } = {}) => {
      const member = this.#leastBusy();
      const callee = functions.get(member);
      if (callee === undefined) throw noFunction(name);
      member.pending++;
      try {
        return await callee.invoke(args, { signal });
      } finally {
        member.pending--;
      }
    };
    return Object.assign(async (...args: RpcInput[]) => invoke(args), { invoke });
  }

  /** Ends all its connections. */
  close(): void {
    for (const { remote } of this.#members) remote.close();
    this.#members.clear();
  }

  /** Calls {@link close} at the end of a block with `using`. */
  [DISPOSE](): void {
    this.close();
  }

  #leastBusy(): Member {
    let best: Member | undefined;
    for (const member of this.#members) {
      if (best === undefined || member.pending < best.pending) best = member;
    }
    if (best !== undefined) return best;
    throw new RemoteLostError({
      where: 'fleet',
      got: 'no remaining device',
      expected: 'one with an open connection',
      remedy: 'Load the executable again when there are devices.',
    });
  }
}

function noFunction(name: string): UsageError {
  return new UsageError({
    where: 'fleet',
    got: `a device that was lost before it gave ${name}`,
    expected: 'an open connection',
  });
}
