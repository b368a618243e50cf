import { type DeviceTensor, Session, Tensor } from '../../../src/client/index.ts';
import type { OpenTrainer } from './trainer.ts';

/** Weft in the page's thread, as the peers are. */
export const openWeft: OpenTrainer = async ({ trainingCase, device, elements }) => {
  const { executable, state: names, x, targets } = trainingCase;
  const session = await Session.load(executable, { device, worker: false });
  let state: Record<string, Tensor | DeviceTensor> = await session.run(
    {},
    { function: 'init', keep: 'device' },
  );
  return {
    async step() {
      const outputs = await session.run(
        {
          ...state,
          x: new Tensor('float32', elements(x.url), x.shape),
          targets: new Tensor('float32', elements(targets.url), targets.shape),
        },
        { keep: names, donate: names },
      );
      const { loss, ...next } = outputs;
      state = next;
      return loss instanceof Tensor ? Number(loss.data[0]) : Number.NaN;
    },
  };
};
