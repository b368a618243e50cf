import { useEffect, useRef, useState } from 'react';
import { imageClassifier } from 'weft-vm/tasks';
import { Pad } from './pad';
import { useModel } from './use-model';

// The folder has a trained network, the names of its classes, and how it wants pictures.
const load = (signal: AbortSignal) => imageClassifier('/digits/', { signal });

export function App() {
  const { model, error } = useModel(load);
  const [address, setAddress] = useState('/picture.svg');
  const [answer, setAnswer] = useState('Loading …');
  const picture = useRef<HTMLImageElement>(null);

  async function show(what: HTMLImageElement | HTMLCanvasElement) {
    const [best] = (await model?.classify(what)) ?? [];
    if (best) setAnswer(`${best.label}, ${Math.round(100 * best.score)}% sure`);
  }
  useEffect(() => {
    const image = picture.current;
    image?.decode().then(() => show(image), console.error);
  }, [model, address]);

  return (
    <>
      <h1>Which digit is it?</h1>
      <img ref={picture} src={address} width={280} height={280} alt="A digit, written by hand" />
      <output id="answer">{error?.message ?? answer}</output>
      <p>Draw one here, or choose a picture: dark ink on white paper.</p>
      <Pad onDrawn={show} />
      <input
        type="file"
        accept="image/*"
        aria-label="Choose a picture"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen) setAddress(URL.createObjectURL(chosen));
        }}
      />
    </>
  );
}
