import '@mantine/core/styles.css';
import './page.css';
