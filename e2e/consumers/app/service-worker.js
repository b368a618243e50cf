import { Session, Tensor } from './node_modules/weft-vm/dist/static.js';
import { checkWith } from './check-with.js';

addEventListener('message', ({ ports }) => {
  const folder = new URL('./models/', location.href);
  void checkWith({ Session, Tensor }, folder).then((outcome) => ports[0].postMessage(outcome));
});
