import { DISPOSE } from '../core/async/dispose-symbols.ts';
import type { RemoteFunctionInfo } from './device-service.ts';
import { isRemoteFunction, type RemoteFunction } from './values/remote-handles.ts';
import { malformed } from './values/wire-values.ts';

/** The modules of functions, which live as long: one that is collected is released on the remote. */
const MODULES = new WeakMap<RemoteFunction, RemoteFunction>();

/** An executable that was loaded on a remote device: a module, as the RPC of TVM calls it. */
export class RemoteModule {
  /** Its functions, in order. */
  readonly functions: readonly RemoteFunctionInfo[];
  readonly #module: RemoteFunction;

  constructor(module: RemoteFunction, functions: readonly RemoteFunctionInfo[]) {
    this.#module = module;
    this.functions = functions;
  }

  /** A function of the executable, called like a local one. Rejects with UsageError. */
  async getFunction(name: string): Promise<RemoteFunction> {
    const found = await this.#module(name);
    if (!isRemoteFunction(found)) throw malformed('a value that is not a function');
    MODULES.set(found, this.#module);
    return found;
  }

  /** Frees the machine and its memory on the remote; its functions can no longer be called. */
  release(): void {
    this.#module.release();
  }

  /** Calls {@link release} at the end of a block with `using`. */
  [DISPOSE](): void {
    this.release();
  }
}
