import { type PointerEvent, useEffect, useRef } from 'react';

/** A canvas to draw on; `onDrawn` gets it after each stroke. */
export function Pad({ onDrawn }: { onDrawn(pad: HTMLCanvasElement): void }) {
  const pad = useRef<HTMLCanvasElement>(null);

  function clear() {
    const ink = pad.current?.getContext('2d');
    if (!ink) return;
    ink.fillStyle = 'white';
    ink.fillRect(0, 0, 280, 280);
    ink.lineWidth = 22;
    ink.lineCap = 'round';
  }
  useEffect(clear, []);

  function begin({ currentTarget, pointerId, nativeEvent }: PointerEvent<HTMLCanvasElement>) {
    currentTarget.setPointerCapture(pointerId);
    const ink = currentTarget.getContext('2d');
    ink?.beginPath();
    ink?.moveTo(nativeEvent.offsetX, nativeEvent.offsetY);
  }
  function draw({ currentTarget, buttons, nativeEvent }: PointerEvent<HTMLCanvasElement>) {
    if (buttons === 0) return;
    const ink = currentTarget.getContext('2d');
    ink?.lineTo(nativeEvent.offsetX, nativeEvent.offsetY);
    ink?.stroke();
  }

  return (
    <>
      <canvas
        id="pad"
        ref={pad}
        width={280}
        height={280}
        aria-label="Draw a digit"
        onPointerDown={begin}
        onPointerMove={draw}
        onPointerUp={({ currentTarget }) => onDrawn(currentTarget)}
      />
      <button type="button" onClick={clear}>
        Clear
      </button>
    </>
  );
}
