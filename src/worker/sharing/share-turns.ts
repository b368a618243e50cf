import type { PendingReplay } from '../../runtime/replay-store.ts';
import type { CallInFlight } from '../../runtime/calls/call-in-flight.ts';
import type { Turn, Turns } from '../../runtime/run-hooks.ts';
import type { DeviceShare } from './device-scheduler.ts';

/** A machine's turns on a device of which it has a share. */
export class ShareTurns implements Turns {
  readonly #share: DeviceShare;

  constructor(share: DeviceShare) {
    this.#share = share;
  }

  async take(call: CallInFlight): Promise<Turn> {
    const turn = this.#share.take();
    try {
      await call.idle(turn.ready);
      return turn;
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  async replay(call: CallInFlight, replay: PendingReplay): Promise<boolean> {
    for (;;) {
      const turn = await this.take(call);
      try {
        if (!replay.isUsable()) return false;
        if (replay.enqueue(turn.launchLimit)) return true;
      } finally {
        turn.end();
      }
    }
  }
}
