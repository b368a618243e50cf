import { type DeviceTensor, Session, Tensor } from '../../../src/client/index.ts';
import { FIRST_SHARE, type OpenTrainer } from './trainer.ts';

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
    async gradients() {
      const gradients: Record<string, Float32Array> = {};
      for (const name of Object.keys(trainingCase.parameters)) {
        const mean = state[`${name}.mean`];
        const { data } = mean instanceof Tensor ? mean : ((await mean?.read()) ?? {});
        gradients[name] = Float32Array.from(
          Array.from(data ?? [], Number),
          (value) => value / FIRST_SHARE,
        );
      }
      return gradients;
    },
  };
};
