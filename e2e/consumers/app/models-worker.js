import { Session, Tensor } from './node_modules/weft-vm/dist/static.js';
import { imageClassifier, readSound } from './node_modules/weft-vm/dist/static-tasks.js';
import { TextModel } from './node_modules/weft-vm/dist/static-text.js';
import { checkModels } from './check-models.js';

const weft = { Session, Tensor, TextModel, imageClassifier, readSound };
addEventListener('message', ({ ports }) => {
  const folder = new URL('./models/', location.href);
  void checkModels(weft, folder).then((outcome) => ports[0].postMessage(outcome));
});
