import { createRoot } from 'react-dom/client';
import { setApiLanguage } from '@/lib/api';
import { firstLanguage, loadCatalogue } from '@/lib/words';
import { App } from './App';
import './styles';

const language = firstLanguage();
setApiLanguage(language);
const catalogue = await loadCatalogue(language);
createRoot(document.getElementById('root')!).render(<App language={language} catalogue={catalogue} />);
