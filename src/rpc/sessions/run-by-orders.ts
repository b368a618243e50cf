import type { HostInput } from '../../runtime/host-function.ts';
import type { RpcValue } from '../values/rpc-value.ts';

/** A run that does what the other side orders, and stands still in between. */
export interface RunByOrders {
  /** Settles when the run is over. */
  run(inputs: readonly HostInput[]): Promise<void>;
  /** May come before {@link run}. */
  order(args: readonly RpcValue[], signal: AbortSignal): Promise<RpcValue>;
}
